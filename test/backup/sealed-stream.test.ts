/** A sealed stream opens to the same bytes, or not at all. */
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import t from 'tap'
import {
  DamagedStream,
  openStream,
  pieceBytes,
  sealStream,
} from '../../src/backup/sealed-stream.js'

const key = randomBytes(32)
/** Around multiples of the piece size, where mistakes are likely. */
const lengths = fc.oneof(
  fc.integer({ min: 0, max: 40 }),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -2, max: 2 }))
    .map(([pieces, more]) => pieces * pieceBytes + more),
)

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** In chunks of another size than the pieces. */
function chunked(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  const chunks = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
  return Readable.from(chunks)
}

const seal = (bytes: Buffer, size = 50_000) => collect(sealStream(key, chunked(bytes, size)))
const open = (bytes: Buffer, size = 50_000) => collect(openStream(key, chunked(bytes, size)))

void t.test('a sealed stream opens in any chunks', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      lengths,
      fc.integer({ min: 999, max: 200_000 }),
      fc.integer({ min: 999, max: 200_000 }),
      async (length, writeSize, readSize) => {
        const bytes = randomBytes(length)
        const back = await open(await seal(bytes, writeSize), readSize)
        return back.equals(bytes)
      },
    ),
    { numRuns: 40 },
  )
  t.end()
})

void t.test('a changed bit, a cut and an addition are detected', async (t) => {
  const damages: Record<string, (bytes: Buffer, at: number) => Buffer> = {
    changed: (bytes, at) => {
      const copy = Buffer.from(bytes)
      copy[at] = (copy[at] ?? 0) ^ 1
      return copy
    },
    cut: (bytes, at) => bytes.subarray(0, at),
    longer: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]),
    'without its middle': (bytes, at) =>
      Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
  }
  for (const damage of Object.values(damages))
    await fc.assert(
      fc.asyncProperty(lengths, fc.nat(), async (length, seed) => {
        const sealed = await seal(randomBytes(length))
        const opened = open(damage(sealed, seed % sealed.length))
        return opened.then(
          () => false,
          (error: unknown) => error instanceof DamagedStream,
        )
      }),
      { numRuns: 25 },
    )
  t.pass(Object.keys(damages).join(', '))
})

void t.test('swapped, missing and lone pieces are detected', async (t) => {
  const sealed = await seal(randomBytes(3 * pieceBytes))
  const size = pieceBytes + 16
  const [one, two, three] = [0, 1, 2].map((at) => sealed.subarray(at * size, (at + 1) * size))
  for (const pieces of [[two, one, three], [one, two], [one, three], [three]])
    await t.rejects(open(Buffer.concat(pieces.map((piece) => piece ?? Buffer.alloc(0)))))
  await t.rejects(collect(openStream(randomBytes(32), chunked(sealed, size))), 'another key')
})
