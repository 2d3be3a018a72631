"""The deterministic story of a job, told to Temporal. Imports domain and the typed signatures in activities."""
