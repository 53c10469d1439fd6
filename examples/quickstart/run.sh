#!/bin/sh
# Runs this example in a fresh folder: sh examples/quickstart/run.sh PATH/TO/streamform
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
example=$(cd "$(dirname "$0")" && pwd)
folder=${2:-$(mktemp -d)/quickstart}
mkdir -p "$folder"
cp -R "$example/pipeline.sf.hcl" "$example/sales_by_hour.sql" "$example/landing" "$example/queries" "$folder"
cd "$folder"

show() { printf '\n$ %s\n' "$*"; }
streamform() { show streamform "$@"; "$binary" "$@"; }

echo "The first files have arrived in $folder/landing."
streamform plan -no-color
streamform apply -no-color -auto-approve
streamform query "SELECT * FROM sales_by_hour ORDER BY hour"

printf '\nNow the late files arrive: a usage record of 8:15 and a purchase of 8:55.\n'
show cp -R "arrivals/1-late/landing" .
cp -R "$example/arrivals/1-late/landing" .
streamform run -once
streamform query -file=queries/usage.sql
streamform query "SELECT * FROM sales_by_hour ORDER BY hour"
printf '\nThe late record is counted once, and the window from 8 to 9 has its three purchases.\n'
