/** `events`: prints changes until interrupted; one object per line with `--json`. */
import { usageError } from './cli-error.js'
import { describeEvent } from './event-line.js'
import { followEvents } from './follow-events.js'
import { textFlag, type Invocation } from './verb.js'

/** Event types sent to every subscriber; `optInTypes` are sent on request only. */
const types = ['agent', 'deployment', 'invalidation', 'apilog', 'problem']
const optInTypes = ['file', 'vclgroup', 'domain', 'tag']

export async function printEvents(invocation: Invocation): Promise<undefined> {
  const { output, system } = invocation
  if (output.form === 'csv')
    throw usageError('--csv does not go with events; --json prints one object per line')
  const wanted = new Set([...readTypes(invocation), 'reset'])
  const also = optInTypes.filter((type) => wanted.has(type))
  const after = textFlag(invocation, 'after')
  if (after !== undefined && !/^(?:0|[1-9]\d{0,14})$/.test(after))
    throw usageError(`--after is ${JSON.stringify(after)}; expected the id of an event`)
  const notify = (line: string): void => {
    system.stderr.write(`cachefleet: ${line}\n`)
  }
  for await (const received of followEvents(await invocation.openApi(), { after, also, notify })) {
    if (!received || !wanted.has(received.event)) continue
    output.write(
      output.form === 'json'
        ? `${JSON.stringify(received)}\n`
        : `${new Date(system.now()).toISOString()}  ${describeEvent(received)}\n`,
    )
  }
  return undefined
}

function readTypes(invocation: Invocation): readonly string[] {
  const given = textFlag(invocation, 'type')?.split(',') ?? types
  const known = [...types, ...optInTypes]
  const unknown = given.find((type) => !known.includes(type))
  if (unknown !== undefined)
    throw usageError(`--type has ${JSON.stringify(unknown)}; known are ${known.join(', ')}`)
  return given
}
