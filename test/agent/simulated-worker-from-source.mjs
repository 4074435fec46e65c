// The thread of simulated agents, run from TypeScript source: a loader given to the process does not reach its threads.
import { register } from 'tsx/esm/api'

register()
await import('../../src/agent/simulated-worker.ts')
