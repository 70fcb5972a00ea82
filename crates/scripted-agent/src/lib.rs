//! One deterministic agent, driven by a script: the demo a newcomer talks to, and the process the tests talk to.
