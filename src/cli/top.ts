/** `top`: the most frequent values in the traffic of many caches, counted for some seconds. */
import type { Fields } from './api-shapes.js'
import { showList } from './output.js'
import { selectTraffic } from './select-traffic.js'
import { isSet, textFlag, type Invocation } from './verb.js'

const columns = [{ field: 'count' }, { field: 'share' }, { field: 'key' }]
const clearScreen = '\x1b[H\x1b[2J'

export async function showTop(invocation: Invocation): Promise<undefined> {
  const { output } = invocation
  const api = await invocation.openApi()
  const words = await selectTraffic(invocation, api)
  words.set('by', textFlag(invocation, 'by') ?? 'url')
  words.set('seconds', textFlag(invocation, 'seconds') ?? '5')
  words.set('n', textFlag(invocation, 'rows') ?? '20')
  do {
    const rows = await api.readList('/top', Object.fromEntries(words))
    if (isSet(invocation, 'watch') && output.isTerminal) output.write(clearScreen)
    await showList(output, output.form === 'table' ? rows.map(toShown) : rows, columns)
  } while (isSet(invocation, 'watch'))
  return undefined
}

/** Formats the share as a percentage. */
function toShown(row: Fields): Fields {
  const { share } = row
  return { ...row, share: typeof share === 'number' ? `${(share * 100).toFixed(1)} %` : '' }
}
