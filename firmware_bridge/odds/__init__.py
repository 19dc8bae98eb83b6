"""Exact odds by enumeration: what every wager of a house costs a player who plays it best."""
