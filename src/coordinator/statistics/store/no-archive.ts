/** An archive that keeps nothing, for processes that take no samples. */
import type { StatisticsArchive } from './statistics-archive.js'

export const noArchive: StatisticsArchive = {
  record: () => undefined,
  release: () => undefined,
  readSeries: ({ names }) => {
    const heard = { endsAt: new Float64Array(), values: new Float64Array() }
    return Promise.resolve({ series: names.map(() => ({ isKnown: false, ...heard })), heard })
  },
  readNewest: () => Promise.resolve({ endsAt: null, caches: 0, values: [] }),
  readNewestEach: () =>
    Promise.resolve({
      agentIds: new Float64Array(),
      endsAt: new Float64Array(),
      values: new Float64Array(),
    }),
  retain: () => Promise.resolve(0),
  commit: () => Promise.resolve(),
  close: () => Promise.resolve(),
}
