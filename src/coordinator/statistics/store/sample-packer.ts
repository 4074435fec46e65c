/** Packs samples of many caches into two buffers that are transferred, instead of copying thousands of objects. */
import type { CacheSample } from './statistics-archive.js'
import { headLength, type SampleBatch } from './thread-messages.js'

interface SamplePacker {
  pack(samples: readonly CacheSample[]): SampleBatch
}

/** The maximum number of name lists remembered; caches with the same release and storage share one. */
const maxLists = 1000

/** Numbers name lists in the order in which they are sent to the thread; equal lists share a number. */
export function createSamplePacker(): SamplePacker {
  let byText = new Map<string, number>()
  let byList = new WeakMap<readonly string[], number>()
  return {
    pack: (samples) => {
      const names: (readonly string[])[] = []
      const isAnew = byText.size > maxLists
      if (isAnew) {
        byText = new Map()
        byList = new WeakMap()
      }
      const numberOf = (list: readonly string[]): number => {
        const known = byList.get(list)
        if (known !== undefined) return known
        const text = JSON.stringify(list)
        const number = byText.get(text) ?? byText.size
        if (number === byText.size) names.push(list)
        byText.set(text, number)
        byList.set(list, number)
        return number
      }
      const heads = new Float64Array(samples.length * headLength)
      const values = new Float64Array(
        samples.reduce((length, { names: list }) => length + list.length, 0),
      )
      let at = 0
      for (const [index, sample] of samples.entries()) {
        const { agentId, organizationId, spanMs, names: list, values: given } = sample
        const [owner, span] = [organizationId ?? Number.NaN, spanMs ?? Number.NaN]
        const head = [agentId, owner, sample.at, span, numberOf(list)]
        heads.set(head, index * headLength)
        for (let column = 0; column < list.length; column++)
          values[at + column] = given[column] ?? Number.NaN
        at += list.length
      }
      return { isAnew, names, heads, values }
    },
  }
}
