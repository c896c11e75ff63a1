#!/bin/sh
echo "1..0 # SKIP nothing to do here"
