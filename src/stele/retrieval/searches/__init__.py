"""What searches by terms and by vectors share."""
