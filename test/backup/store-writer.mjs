/** Writes to a store as fast as it can, two things in each transaction, until its standard input ends: `DB`. */
import { createRequire } from 'node:module'

const isOld = process.versions.node.startsWith('20.')
const BetterSqlite3 = createRequire(import.meta.url)(isOld ? 'better-sqlite3' : 'better-sqlite3-13')

const store = new BetterSqlite3(process.argv[2], { timeout: 10_000 })
const set = store.prepare(
  'insert into settings (name, value) values (?, ?) on conflict (name) do update set value = excluded.value',
)
let count = 0
const write = store.transaction(() => {
  count += 1
  set.run('written', String(count))
  set.run(`written-${count}`, '')
})
store.pragma('synchronous = OFF')
let isOver = false
process.stdin.resume().on('end', () => (isOver = true))
const run = () => {
  for (let turn = 0; turn < 50; turn++) write.immediate()
  process.stdout.write(`${count}\n`)
  if (isOver) store.close()
  // Others want to write, too.
  else setTimeout(run, 20)
}
run()
