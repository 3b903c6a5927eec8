"""Numbers that others published, and verdicts on ours against them; tables and result cards show both."""
