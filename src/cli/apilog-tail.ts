/** `apilogs tail`: prints the last entries of the API log, then every new one until interrupted. */
import type { Api } from './api.js'
import type { Fields } from './api-shapes.js'
import { toCell } from './cells.js'
import { usageError } from './cli-error.js'
import { describeApiLog } from './event-line.js'
import { followEvents } from './follow-events.js'
import { textFlag, type Invocation } from './verb.js'

const linesUnlessGiven = '10'

export async function tailApiLogs(invocation: Invocation): Promise<undefined> {
  const { output, system } = invocation
  if (output.form === 'csv')
    throw usageError('--csv does not go with tail; --json prints one object per line')
  const lines = readLines(invocation)
  const api = await invocation.openApi()
  const print = (log: Fields): void => {
    output.write(
      output.form === 'json'
        ? `${JSON.stringify(log)}\n`
        : `${toCell(log['created'])}  ${describeApiLog(log)}\n`,
    )
  }
  const notify = (line: string): void => {
    system.stderr.write(`cachefleet: ${line}\n`)
  }
  /** True for entries that were written before the first event; such entries may arrive as events too. */
  let isPast: ((id: number) => boolean) | undefined
  for await (const received of followEvents(api, { notify })) {
    // Read once the stream is open, so that no entry is missed in between.
    isPast ??= await printLast(api, lines, print)
    if (received?.event === 'reset') notify('entries are missing here: apilogs list has them')
    if (received?.event === 'apilog' && !isPast(Number(received.data['id']))) print(received.data)
  }
  return undefined
}

function readLines(invocation: Invocation): number {
  const lines = textFlag(invocation, 'lines') ?? linesUnlessGiven
  if (/^(?:\d{1,3}|1000)$/.test(lines)) return Number(lines)
  throw usageError(`--lines is ${JSON.stringify(lines)}; expected 0 to 1000`)
}

/** With several coordinators, an older id may arrive late: every entry that is neither printed nor older than the list is new. */
async function printLast(
  api: Api,
  lines: number,
  print: (log: Fields) => void,
): Promise<(id: number) => boolean> {
  if (lines === 0) return () => false
  const last = await api.readList('/apilogs', { sort: 'id:desc', take: String(lines) })
  for (const log of last.toReversed()) print(log)
  const printed = new Set(last.map(({ id }) => Number(id)))
  const oldest = Math.min(...printed)
  return (id) => id < oldest || printed.has(id)
}
