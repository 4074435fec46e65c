// Starts a run of a log tool and waits to be killed: `start-log-child.mjs PROGRAM`.
import { LogChild } from '../../dist/src/agent/log/log-child.js'

new LogChild({
  tool: { program: process.argv[2], folder: '/', variables: 'Varnish' },
  run: { format: null, query: null, fetches: false, bound: null },
  onLine: () => undefined,
  onEnd: () => undefined,
})
