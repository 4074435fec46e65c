/** Reads server-sent events (HTML standard, 9.2) as the coordinator writes them: LF line ends, data on one line. */

export interface StreamEvent {
  /** Id of the newest event so far, after which to resume. */
  readonly id: string
  /** Undefined: only the id advanced. */
  readonly event: string | undefined
  readonly data: string
}

/** Far larger than any event. */
const maxBlockCharacters = 16 * 1024 * 1024

/** Pieces may be split anywhere. Throws if the text is not an event stream. */
export async function* readStreamEvents(
  pieces: AsyncIterable<string>,
  lastId: string,
): AsyncGenerator<StreamEvent> {
  let id = lastId
  let rest = ''
  for await (const piece of pieces) {
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > maxBlockCharacters) throw new Error('an event has no end')
    for (const block of blocks) {
      const read = readBlock(block, id)
      id = read.id
      yield read
    }
  }
}

function readBlock(block: string, lastId: string): StreamEvent {
  let id = lastId
  let event: string | undefined
  const data: string[] = []
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? [] // comments have no name
    if (name === 'id') id = value
    else if (name === 'event') event = value
    else if (name === 'data') data.push(value)
  }
  return { id, event, data: data.join('\n') }
}
