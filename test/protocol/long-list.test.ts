/** Lists parsed in pieces equal the whole list. */
import fc from 'fast-check'
import t from 'tap'
import { readJsonList, readTextList } from '../../protocol/long-list.js'

const garbled = { name: 'ManagementPortError', kind: 'garbled' }
const replyOf = (text: string) => ({ status: 200, body: Buffer.from(text) })
const answerOf = (rows: readonly unknown[]) =>
  replyOf(JSON.stringify([2, ['vcl.list', '-j'], 1.5, ...rows]))
const asItIs = (item: unknown): unknown => item

/** Long enough that a list of them spans several pieces. */
const row = fc.record({
  name: fc.string({ unit: 'grapheme', maxLength: 40 }),
  nested: fc.array(fc.oneof(fc.constantFrom(',', ']', '}', '"', '\\', '\\"'), fc.integer())),
  padding: fc.nat({ max: 40_000 }).map((length) => 'x'.repeat(length)),
})
const rows = fc.array(row, { maxLength: 12 })

void t.test('every member of a JSON list is parsed, in order, whatever it contains', async (t) => {
  const property = fc.asyncProperty(rows, async (all) => {
    const read = await readJsonList(answerOf(all), 'vcl.list', asItIs)
    return JSON.stringify(read) === JSON.stringify(all)
  })
  await t.resolves(fc.assert(property))
})

void t.test('every line of a text list is parsed, in order, with the heading marked', async (t) => {
  const line = fc.nat({ max: 40_000 }).map((length) => 'y'.repeat(length))
  const property = fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
    const text = ['heading', ...lines].join('\n')
    let headings = 0
    const read = await readTextList(replyOf(text), 'vcl.list', (piece, isFirst) => {
      if (isFirst) headings += 1
      return piece.split('\n')
    })
    const all = read.join('\n')
    return (all === text || `${all}\n` === text) && headings === 1
  })
  await t.resolves(fc.assert(property, { examples: [[['y'.repeat(70_000), '']]] }))
})

void t.test('a row longer than any of a cache is garbled', async (t) => {
  const long = 'z'.repeat((1 << 20) + 1)
  const open = `[2, ["vcl.list", "-j"], 1.5, "${long}`
  await t.rejects(async () => readJsonList(replyOf(open), 'vcl.list', asItIs), garbled)
  await t.rejects(async () => readTextList(replyOf(long), 'vcl.list', (text) => [text]), garbled)
})

void t.test('a payload other than a list has no members', async (t) => {
  t.same(await readJsonList(replyOf('[2, ["x", "-j"], 1.5, {}]'), 'x', asItIs), [{}])
  await t.rejects(async () => readJsonList(replyOf('{}'), 'x', asItIs), garbled)
})
