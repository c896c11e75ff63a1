x = a ? b : c; label: goto_;
