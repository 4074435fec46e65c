// The thread of the archive, run from TypeScript source: a loader given to the process does not reach its threads.
import { register } from 'tsx/esm/api'

register()
await import('../../../src/store/statistics/archive-thread.ts')
