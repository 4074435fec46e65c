/** `param.show` as text, for releases without `-j` (before 6.0.2 and 6.2). The long form `-l` prints a block per parameter. */

import { garbledAnswer, textCommand, type Command } from '../command.js'
import { checkParam, type Param } from '../commands/param.js'
import { commandLine } from '../quote.js'

export function paramShowText(param: string): Command<Param> {
  const line = commandLine('param.show', [checkParam('param.show', param)])
  return textCommand('param.show', line, (text, name) => {
    const [first] = parseParamShowText(text, name)
    if (!first) throw garbledAnswer(name, 'no parameter in it')
    return first
  })
}

export function paramShowAllText(): Command<readonly Param[]> {
  return textCommand('param.show', 'param.show -l', parseParamShowText)
}

/** Values stay in printed form: text where the JSON form has numbers. */
export function parseParamShowText(text: string, name = 'param.show'): readonly Param[] {
  const blocks = text.split(/\n(?=[a-z])/).filter((block) => block.trim() !== '')
  return blocks.map((block) => parseBlock(block, name))
}

function parseBlock(block: string, command: string): Param {
  const [name = '', ...lines] = block.split('\n')
  if (!/^[a-z][a-z0-9_]*\s*$/.test(name))
    throw garbledAnswer(command, `not a parameter: ${JSON.stringify(name.slice(0, 80))}`)
  const read = (label: string) =>
    lines
      .find((line) => line.trimStart().startsWith(`${label} is: `))
      ?.trim()
      .slice(label.length + 5)
  const shown = read('Value')
  const { printed, units, isDefault } = readValue(shown ?? '')
  const value = shown === undefined ? null : printed
  return {
    name: name.trim(),
    isImplemented: shown !== undefined,
    value,
    units,
    default: (isDefault ? value : read('Default')) ?? null,
    minimum: read('Minimum') ?? null,
    maximum: read('Maximum') ?? null,
    description: readDescription(lines),
    flags: [],
  }
}

/** `120.000 [seconds] (default)`: unit and remark are optional. */
function readValue(shown: string) {
  const remark = ' (default)'
  const isDefault = shown.endsWith(remark)
  const text = isDefault ? shown.slice(0, -remark.length) : shown
  const bracket = text.endsWith(']') ? text.lastIndexOf(' [') : -1
  return bracket < 0
    ? { printed: text, units: null, isDefault }
    : { printed: text.slice(0, bracket), units: text.slice(bracket + 2, -1), isDefault }
}

/** The text after the first empty line, indented by eight. */
function readDescription(lines: readonly string[]): string | null {
  const empty = lines.findIndex((line) => line.trim() === '')
  const words = lines.slice(empty + 1).map((line) => line.trim())
  return empty < 0 ? null : words.join('\n').trim()
}
