"""The report of a fit as one page of HTML that needs nothing else: no network, no script from elsewhere."""
