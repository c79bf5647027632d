"""Two BIF texts that several tests read: one with everything in it, one that is plain."""

DOGS = """\
network "dog problem" { property "written by hand; with care"; }
variable light { type discrete [ 2 ] { on, off }; property position = (73, 165); }
variable out { // who is out?
  type discrete[3] { x, /* not y: */ "y z", 12+ };
}
probability ( light | out ) {
  (x) 0.6, 0.4;
  ("y z") 0.05, 0.95;
  (12+) .1 0.9;
}
probability ( out ) { table 0.2, 0.3, 5e-1; }
"""

TWO = """\
network two {
}
variable a {
  type discrete [ 2 ] { no, yes };
}
variable b {
  type discrete [ 3 ] { low, mid, high };
}
variable c {
  type discrete [ 2 ] { u, v };
}
probability ( a ) {
  table 0.25, 0.75;
}
probability ( c | a, b ) {
  (no, low) 0.1, 0.9;
  (no, mid) 0.2, 0.8;
  (no, high) 0.3, 0.7;
  (yes, low) 0.4, 0.6;
  (yes, mid) 0.5, 0.5;
  (yes, high) 0.6, 0.4;
}
"""
