#!/usr/bin/env bash
# Prints a section of README.md as a script: files that it shows are written, commands that it shows are run.
#
#   scripts/readme.sh 'Add a tracepoint to your service'
#
# A block of sh is commands. A block of toml or rust is a file, named by the line before it: `build.rs`: and the like.
# Lines with sudo are left out: what they install is there when the script runs.
set -euo pipefail
awk -v section="## $1" '
	/^## / { inside = ($0 == section); found = found || inside; next }
	!inside { next }
	/^```/ && language { if (language == "file") print "END_OF_FILE"; language = ""; next }
	/^```(text|console)/ { language = "output"; next }
	/^```sh$/ { language = "sh"; next }
	/^```(toml|rust)$/ {
		language = "file"
		if (name == "") { print "README.md: a file has no name, before: " $0 > "/dev/stderr"; exit 1 }
		print "cat >" name " <<\047END_OF_FILE\047"
		next
	}
	language == "output" || language == "sh" && /sudo/ { next }
	language { print; next }
	/^`[^`]+`/ { split($0, parts, "`"); name = parts[2]; next }
	END { if (!found) { print "README.md has no section: " section > "/dev/stderr"; exit 1 } }
' "$(dirname "$0")/../README.md"
