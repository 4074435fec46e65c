/** Prints the value of an answer as JSON: a long list in parts, so that other work can run in between. */
import { setImmediate as otherWork } from 'node:timers/promises'

const membersAtOnce = 500

/** Returns pieces that must be written in order. */
export async function printAnswer(value: unknown): Promise<readonly Buffer[]> {
  if (!Array.isArray(value) || value.length <= membersAtOnce) return [print(value)]
  const pieces: Buffer[] = []
  for (let at = 0; at < value.length; at += membersAtOnce) {
    const members = JSON.stringify(value.slice(at, at + membersAtOnce)).slice(1, -1)
    pieces.push(Buffer.from(`${at === 0 ? '[' : ','}${members}`))
    await otherWork()
  }
  return [...pieces, Buffer.from(']')]
}

export function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

function print(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}
