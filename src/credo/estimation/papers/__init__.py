"""The methods of the papers that credo is compared with: co, cem, me, cme, qmap, qmapc and the gradient trainer.

They are here so that published results can be repeated. None of them is what credo recommends: that is `posterior`, and
`cmap` or `cml` where an optimum is wanted.
"""
