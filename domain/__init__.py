"""Pure: parameters, rules, identity, problems, messages, ports. No I/O, no clock, no randomness."""
