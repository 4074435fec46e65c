/** Stages on real caches, of a group with domains (`stage-beside.ts`) and of a root group (`stage-root.ts`). */
import t from 'tap'
import {
  checkAnew,
  checkApart,
  checkBeside,
  checkDelstage,
  checkDeployed,
  checkPromote,
  checkRestarts,
  checkSameNames,
  makeShop,
} from './stage-beside.js'
import { startPair } from './stage-pair.js'
import {
  checkFollowing,
  checkInPlace,
  checkKilled,
  checkRoot,
  checkShortage,
} from './stage-root.js'
import { parallel } from '../support/parallel.js'
import { deploySite, expectDone, makeSite } from './harness.js'

t.jobs = 2

void t.test('a group with domains', parallel(), async (t) => {
  const harness = await startPair(t)
  const shop = await makeShop(t, harness)
  expectDone(await harness.api.act(shop.id, 'deploy'))
  await t.test('is staged under other names beside itself', (t) => checkBeside(t, harness, shop))
  await t.test('is staged without other names on others', (t) => checkApart(t, harness, shop))
  await t.test('is deployed again while it is staged', (t) => checkDeployed(t, harness, shop))
  await t.test('its stage is restored after restarts', (t) => checkRestarts(t, harness, shop))
  await t.test('is staged again, or remains unchanged', (t) => checkAnew(t, harness, shop))
  await t.test('is promoted under load', (t) => checkPromote(t, harness, shop))
  await t.test('its stage is discarded', (t) => checkDelstage(t, harness, shop))
  await t.test('takes the place of its stage under load', (t) => checkSameNames(t, harness, shop))
})

void t.test('a root group, with two coordinators', parallel(), async (t) => {
  const harness = await startPair(t, 2)
  const site = await makeSite(harness, 'site')
  await deploySite(harness, site)
  await t.test('is staged on agents without other groups', (t) => checkRoot(t, harness, site))
  await t.test('its stage follows the tags', (t) => checkFollowing(t, harness, site))
  await t.test('a failed promote changes nothing', (t) => checkShortage(t, harness, site))
  await t.test('it takes the place of its stage under load', (t) => checkInPlace(t, harness, site))
  await t.test('a coordinator’s unfinished first phase is discarded', (t) =>
    checkKilled(t, harness, site),
  )
})
