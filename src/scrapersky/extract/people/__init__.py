"""People of a business: name candidates of a page, their scores, and the contacts associated with each person."""
