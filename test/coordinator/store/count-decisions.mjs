// A second process for the tests: `count-decisions.mjs URL N` adds one to the stored count in N decisions.
import { pino } from 'pino'
import { openStore } from '../../../dist/src/coordinator/store/open-store.js'

const [, , url = '', times = '0'] = process.argv
const store = await openStore(url, pino({ level: 'silent' }))
for (let done = 0; done < Number(times); done++)
  await store.decide(async (queries) => {
    const { value } = await queries.selectFrom('settings').select('value').executeTakeFirstOrThrow()
    await queries
      .updateTable('settings')
      .set({ value: String(Number(value) + 1) })
      .execute()
  })
await store.close()
