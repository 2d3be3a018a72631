"""The names under which jobs can be found in Temporal's visibility.

Never says how they are registered: adapters/temporal_connection.py does.
"""

TENANT = "PartmillTenant"
MODEL = "PartmillModel"
ENGINE = "PartmillEngine"
IDEMPOTENCY_KEY = "PartmillIdempotencyKey"
EVICTIONS = "PartmillEvictions"
