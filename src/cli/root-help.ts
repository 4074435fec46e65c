/** Text of `cachefleet --help` below the nouns and verbs. */
export const rootHelp = `
Each noun and verb has a --help with an example; nouns may be typed in the singular. Ids are digits; wherever
an id is taken a name is too: one that looks like an id with a backslash before it (\\2024), a comma inside a
list of names as \\,.

Variables:
  CACHEFLEET_SERVER      the coordinator's address
  CACHEFLEET_TOKEN       an API token, instead of a login; CACHEFLEET_TOKEN_FILE: its file
  CACHEFLEET_CA          file with the CA of the coordinator's certificate
  NO_COLOR               no colour

Exit codes:
  0  done                                  3    the wait ended with min, without the percentage
  1  refused, below min, or no connection  4    the wait ended below min, work goes on
  2  usage                                 5    authentication or permission
                                           130  Ctrl-C

Example:
  $ cachefleet login --server http://127.0.0.1:8002 --user admin
  $ cachefleet files upload vcl/
  $ cachefleet vclgroups add --name site --main-vcl main.vcl --deployments web
  $ cachefleet vclgroups deploy site
  $ cachefleet agents list --filter stateName=Down,Failing`
