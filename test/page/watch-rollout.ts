/** A deploy in waves, as the page of its group shows it: of the group shop, on two caches, at revision 2. */
import type { Test } from 'tap'
import type { ApiClient } from '../support/api-client.js'
import { findBarriers, keepScreenshot, type OpenPage } from '../support/browser.js'

interface Harness extends Pick<OpenPage, 'page'> {
  readonly api: ApiClient
}

export async function watchRollout(t: Test, { page, api }: Harness): Promise<void> {
  const group = await findId(api, '/vclgroups?name=shop')
  const file = await findId(api, '/files?name=shop.vcl')
  const region = page.getByRole('region', { name: /^Rollout \d+$/ })
  const dialog = page.getByRole('dialog')
  const begin = async (text: string): Promise<void> => {
    await api.editFile(file, `vcl 4.1;\nbackend default none;\n# ${text}\n`)
    const rollout = { waves: [{ count: 1 }], bake: 3600, gates: [] }
    const { status } = await api.call('PUT', `/vclgroups/${group}/deploy?wait=0`, { rollout })
    t.equal(status, 202)
  }
  await page.goto(`/groups/${group}/deploy`)
  await page.getByText(/2 caches now/).waitFor()
  await begin('in waves')

  // By another user: it appears by itself.
  await page.getByText(/^Rollout \d+ to revision 3: Baking, wave 1 of 2$/).waitFor()
  await region.getByRole('heading', { name: /to revision 3 Baking$/ }).waitFor()
  await region.getByText(/^Observed for \d+ of 3600 s$/).waitFor()
  await region.getByText('It goes back to revision 2 if a gate fails.').waitFor()
  await region.getByRole('row', { name: 'Restarts on all pass 0 0 – –' }).waitFor()
  t.equal(await page.getByRole('button', { name: 'Cancel deploy' }).count(), 0)
  await keepScreenshot(page, 'rollout-baking')
  t.same(await findBarriers(page), [])

  await region.getByRole('button', { name: 'Pause' }).press('Enter')
  await region.getByText('Paused by root').waitFor()
  await region.getByText('Wave 1', { exact: true }).click()
  const caches = region.getByRole('table', { name: 'Caches of wave 1' })
  await caches.getByText('switched', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await dialog.getByText(/: Paused, wave 1 of 2, begun by root\. All caches go back/).waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  // The page behind a dialog takes no key.
  await dialog.waitFor({ state: 'detached' })
  t.equal(await page.getByRole('alert').count(), 0, 'closing the dialog shows no alert')
  await region.getByRole('button', { name: 'Resume' }).press('Enter')
  await region.getByText(/^Observed for/).waitFor()
  await region.getByRole('button', { name: 'Advance…' }).click()
  await dialog.getByRole('button', { name: 'Advance' }).click()
  await region.getByText('Wave 2 of 2').waitFor()
  await region.getByText(/^Observed for/).waitFor()
  await region.getByRole('button', { name: 'Advance…' }).click()
  await dialog.getByText(/the rollout has succeeded/).waitFor()
  await dialog.getByRole('button', { name: 'Advance' }).click()
  await region.getByRole('heading', { name: /Succeeded$/ }).waitFor()
  await page.getByRole('heading', { name: /Active revision 3$/ }).waitFor()

  await begin('in waves again')
  await region.getByText(/^Observed for/).waitFor()
  await region.getByRole('button', { name: 'Abort…' }).click()
  await dialog.getByText(/go back to revision 3 at once/).waitFor()
  await dialog.getByRole('button', { name: 'Abort rollout' }).click()
  await region.getByRole('heading', { name: /Aborted$/ }).waitFor()
  const parts = page.getByRole('group', { name: 'Parts of the deploy' })
  await parts.getByRole('button', { name: 'Rollouts' }).click()
  const past = page.getByRole('table', { name: 'Rollouts of the group' })
  await past.getByRole('row', { name: /revision 3 Succeeded/ }).waitFor()
  await past.getByRole('row', { name: /revision 4 Aborted Aborted by root/ }).waitFor()
  await past.getByRole('button', { name: /revision 4$/ }).click()
  await dialog.getByText('1 rolled back').waitFor()
  await keepScreenshot(page, 'rollout-past')
  t.same(await findBarriers(page), [])
  await page.keyboard.press('Escape')
}

/** A policy is written in the form of the group, and its errors are shown at their fields. */
export async function writePolicy(t: Test, { page, api }: Harness): Promise<void> {
  const group = await findId(api, '/vclgroups?name=shop')
  const dialog = page.getByRole('dialog')
  await api.makeFile(
    'cart.test.yaml',
    'steps:\n  - request: { url: / }\n    expect: { status: 200 }\n',
    4,
  )
  await page.goto(`/groups/${group}`)
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByRole('checkbox', { name: 'cart.test.yaml' }).check()
  await dialog.getByRole('checkbox', { name: /^Require tests/ }).check()
  await dialog.getByRole('checkbox', { name: /^Deploy in waves/ }).check()
  await dialog.getByRole('button', { name: '+ Hit ratio' }).click()
  await dialog.getByLabel('May drop by, points').fill('120')
  await dialog.getByRole('button', { name: 'Save' }).press('Enter')
  await dialog.getByText('rollout.gates[2]: drop is 1.2; it must be from 0 to 1').waitFor()
  t.equal(await dialog.getByRole('alert').count(), 0, 'it is shown once')
  await keepScreenshot(page, 'rollout-policy')
  t.same(await findBarriers(page), [])
  await dialog.getByLabel('May drop by, points').fill('7')
  await dialog.getByRole('button', { name: 'Remove wave 3' }).click()
  await dialog.getByRole('button', { name: 'Save' }).click()

  await page.getByText('1 cache, 10 %, then the rest').waitFor()
  await page.getByText('no deploy without them').waitFor()
  const saved = await api.call('GET', `/vclgroups/${group}`)
  t.match(saved.body, {
    requireTests: true,
    tests: [{ name: 'cart.test.yaml' }],
    rollout: {
      waves: [{ count: 1 }, { percent: 10 }],
      gates: [{ name: 'errors' }, { name: 'backendFailures' }, { name: 'hitRatio', drop: 0.07 }],
    },
  })
  await api.call('PUT', `/vclgroups/${group}`, { requireTests: false })
  await page.goto(`/groups/${group}/deploy`)
  await page.getByText(/^The tests of shop were not run: /).waitFor()
  await page.goto(`/groups/${group}`)
  await page.getByText('1 cache, 10 %, then the rest').waitFor()
  await api.call('PUT', `/vclgroups/${group}`, { rollout: null, tests: [], requireTests: false })
  await page.getByText('1 cache, 10 %, then the rest').waitFor({ state: 'detached' })
}

async function findId(api: ApiClient, path: string): Promise<number> {
  const { text } = await api.call('GET', path)
  return (JSON.parse(text) as { id: number }[])[0]?.id ?? 0 // as in the API documentation
}
