/** The migration guide names only calls and commands that exist. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { grammar } from '../src/cli/grammar.js'
import { resourceRoutes } from '../src/coordinator/controller/resources.js'
import { root } from './support/root.js'

const guide = readFileSync(join(root, 'docs/migrating.md'), 'utf8')

/** Cells of the tables below a heading, row by row. */
function readTables(heading: string): readonly (readonly string[])[] {
  const [, chapter = ''] = guide.split(`\n## ${heading}\n`)
  return (chapter.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('| -'))
    .map((line) => line.split('|').slice(1, -1))
}

function readCode(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

void t.test('the calls of the controller that the guide names exist', (t) => {
  // Routes are only described here, never called.
  const known = new Set(resourceRoutes({} as never).map(({ method, path }) => `${method} ${path}`))
  const chapters = ['From vagent2 and the console', 'From the commercial controller']
  const named = chapters
    .flatMap(readTables)
    .map((cells) => cells.at(-1) ?? '')
    .flatMap(readCode)
    .filter((code) => /^(GET|POST|PUT|DELETE) \/(?!api|metrics)/.test(code))
  t.ok(named.length >= 18, named.join(', '))
  t.same(
    named.filter((call) => !known.has(call)),
    [],
  )
  t.end()
})

void t.test('the commands that the guide names exist', (t) => {
  const verbs = new Set([
    ...grammar.verbs.map(({ name }) => name),
    ...grammar.nouns.flatMap(({ name, verbs }) => verbs.map((verb) => `${name} ${verb.name}`)),
  ])
  const spoken = [...guide.matchAll(/cachefleet ([a-z-]+)(?: ([a-z-]+))?/g)].map(
    ([, one = '', two = '']) => [one, `${one} ${two}`],
  )
  const listed = readTables('From vagent2 and the console')
    .map(([, client = '']) => readCode(client))
    .flat()
    .filter((code) => /^(?!cachefleet)[a-z]+ [a-z-]+/.test(code))
    .map((code) => code.split(' '))
    .map(([one = '', two = '']) => [one, `${one} ${two}`])
  t.ok(spoken.length > 15 && listed.length > 10)
  const unknown = [...spoken, ...listed].filter((words) => !words.some((each) => verbs.has(each)))
  t.same(unknown, [])
  t.end()
})
