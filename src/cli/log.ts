/** `log`: prints a line per completed request; one object per line with `--json`. */
import { isFields, nameOf, requireFields, type Fields } from './api-shapes.js'
import { toCell } from './cells.js'
import { usageError } from './cli-error.js'
import { readStreamEvents } from './event-stream.js'
import { toJsonText, toPrintableLine } from './printable-text.js'
import { selectTraffic } from './select-traffic.js'
import { isSet, textFlag, type Invocation } from './verb.js'

/** Time limit without --follow. */
const shortMs = 10_000
const maxLines = 1_000

export async function printLog(invocation: Invocation): Promise<undefined> {
  const { output, system } = invocation
  if (output.form === 'csv')
    throw usageError('--csv does not go with log; --json prints one object per line')
  const follows = isSet(invocation, 'follow')
  const limit = readLimit(invocation)
  const api = await invocation.openApi()
  const words = await selectTraffic(invocation, api)
  if (follows) words.set('limit', String(limit))
  if (isSet(invocation, 'detail')) words.set('detail', 'true')
  const pieces = await api.listen(`/logs?${words}`, {})
  const until = follows ? Infinity : system.now() + shortMs
  let lines = 0
  for await (const { event, data } of readStreamEvents(endAt(pieces, until - system.now()), '')) {
    if (event === undefined) continue
    const fields = requireFields(JSON.parse(data))
    if (event === 'transaction') {
      output.write(output.form === 'json' ? `${toJsonText(fields, 0)}\n` : describe(fields))
      lines += 1
      await output.drained()
      if (!follows && lines >= limit) break
    } else system.stderr.write(`cachefleet: ${describeTrouble(event, fields)}\n`)
  }
  return undefined
}

/** Ends the pieces after `forMs`, without waiting for the next piece. */
async function* endAt(pieces: AsyncIterable<string>, forMs: number): AsyncGenerator<string> {
  const iterator = pieces[Symbol.asyncIterator]()
  if (forMs === Infinity) {
    yield* pieces
    return
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(resolve, forMs, null)))
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), late])
      if (next === null || next.done === true) return
      yield next.value
    }
  } finally {
    clearTimeout(timer)
    void iterator.return?.() // ends the connection
  }
}

function readLimit(invocation: Invocation): number {
  const given = textFlag(invocation, 'limit')
  if (given === undefined) return 100
  const limit = Number(given)
  if (/^\d{1,6}$/.test(given) && limit >= 1 && limit <= maxLines) return limit
  throw usageError(`--limit is ${JSON.stringify(given)}; it is a number from 1 to ${maxLines}`)
}

/** For example `12:00:01.123  edge-1  200  hit   1.2 ms  GET shop.example/a`. */
function describe(fields: Fields): string {
  const { at, agent, status, handling, ttfbMs, method, host, url, records } = fields
  const words = [
    toCell(at).slice(11, 23),
    isFields(agent) ? (nameOf(agent) ?? '') : '',
    toCell(status),
    toCell(handling).padEnd(5),
    typeof ttfbMs === 'number' ? `${ttfbMs.toFixed(1)} ms`.padStart(9) : '-'.padStart(9),
    `${toCell(method)} ${toCell(host)}${toCell(url)}`,
  ]
  const lines = [words.join('  '), ...(Array.isArray(records) ? listRecords(fields, records) : [])]
  return lines.map((line) => `${toPrintableLine(line)}\n`).join('')
}

/** Lists each part of a request with its records; ends with an empty line. */
function listRecords({ recordsLeftOut }: Fields, parts: readonly unknown[]): readonly string[] {
  const left = typeof recordsLeftOut === 'number' && recordsLeftOut > 0
  return [
    ...parts
      .map(requireFields)
      .flatMap(({ kind, xid, reason, records }) => [
        `  ${toCell(kind)} ${toCell(xid)}  ${toCell(reason)}`,
        ...(Array.isArray(records) ? records.map(requireFields) : []).map(
          ({ tag, text }) => `    ${toCell(tag).padEnd(12)}  ${toCell(text)}`,
        ),
      ]),
    ...(left ? [`  ${recordsLeftOut} records more were left out`] : []),
    '',
  ]
}

function describeTrouble(event: string, { dropped, reason }: Fields): string {
  if (event === 'dropped') return `${toCell(dropped)} lines were left out`
  return toPrintableLine(`the log ended: ${toCell(reason)}`)
}
