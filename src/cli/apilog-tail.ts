/** `apilogs tail`: the last entries of the api log, then every new one until it is interrupted. */
import type { Fields } from './api-shapes.js'
import { toCell } from './cells.js'
import { usageError } from './cli-error.js'
import { describeApiLog } from './event-line.js'
import { followEvents } from './follow-events.js'
import { textFlag, type Invocation } from './verb.js'

const linesUnlessGiven = '10'

export async function tailApiLogs(invocation: Invocation): Promise<undefined> {
  const { output, surroundings } = invocation
  if (output.form === 'csv')
    throw usageError('a log that goes on is no table; --json prints one object a line')
  const take = textFlag(invocation, 'lines') ?? linesUnlessGiven
  if (!/^(?:\d{1,3}|1000)$/.test(take))
    throw usageError(`--lines is ${JSON.stringify(take)}; 0 to 1000 is right`)
  const api = await invocation.openApi()
  const print = (log: Fields): void => {
    output.write(
      output.form === 'json'
        ? `${JSON.stringify(log)}\n`
        : `${toCell(log['created'])}  ${describeApiLog(log)}\n`,
    )
  }
  const tell = (line: string): void => {
    surroundings.stderr.write(`cachefleet: ${line}\n`)
  }
  /** Of the entries before, which may come as events too. */
  let printed: ReadonlySet<unknown> | undefined
  for await (const heard of followEvents(api, { tell })) {
    if (heard?.event === 'reset') tell('entries are missing here: apilogs list has them')
    if (printed === undefined) {
      // Asked once the stream stands, so that nothing falls in between.
      const query = { sort: 'id:desc', take: String(Math.max(Number(take), 1)) }
      const last = Number(take) === 0 ? [] : await api.readList('/apilogs', query)
      for (const log of last.toReversed()) print(log)
      printed = new Set(last.map(({ id }) => id))
    }
    if (heard?.event === 'apilog' && !printed.has(heard.data['id'])) print(heard.data)
  }
  return undefined
}
