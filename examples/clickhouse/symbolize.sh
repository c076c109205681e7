#!/bin/sh
# The command of symbolize_function.xml.
exec symbolon filter --format rows --field stack --replace --chunk-header
