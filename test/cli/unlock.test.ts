/** Unlocking agents in the CLI: which ones, and what `--plan` shows beforehand. */
import t from 'tap'
import { exitCodes } from '../../src/cli/cli-error.js'
import type { HeldCache } from '../../src/vcl/held-cache.js'
import { enrol } from '../coordinator/controller/client.js'
import { done, playSession } from '../coordinator/controller/played-session.js'
import { startFixture } from './fixture.js'

void t.test(
  'locked agents are unlocked by name, by filter or all; --plan shows the changes',
  async (t) => {
    const fixture = await startFixture(t)
    const { api } = fixture
    const held: HeldCache = {
      childRunning: true,
      vcls: [{ name: 'boot', active: true, labelOf: null, ours: false }],
      omittedVcls: 0,
      takeover: 'registration',
      takenOver: false,
      params: [],
      backends: [],
    }
    const lockedBecause = 'is enrolled at coordinator a, this is coordinator b'
    const condition = {
      engineState: 'running' as const,
      engineError: null,
      lockedBecause,
      heldRevision: 1,
      effectiveRevision: 1,
    }
    const { queries } = api.service.store
    const lock = async (
      name: string,
      tags: readonly string[],
      holds: HeldCache = held,
    ): Promise<void> => {
      const id = await enrol(api, name, { tags, description: { condition, held: holds } })
      playSession(t, api, id, () => {
        const unlocked = { lockedBecause: null, state: 1 }
        // The agent's next message reports it.
        void queries.updateTable('agents').set(unlocked).where('id', '=', id).execute()
        return done(null)
      })
    }
    await lock('eu-1', ['eu'])
    await lock('eu-2', ['eu'])
    await lock('us-1', ['us'])
    await enrol(api, 'free')
    const idle = [{ name: 'cf-idle', active: true, labelOf: null, ours: true }]
    await lock('as-is', ['asis'], { ...held, vcls: idle, takenOver: true })

    t.match(await fixture.cli(['agents', 'unlock', 'as-is', '--plan']), {
      out: 'as-is: no difference, its cache does not change\n',
    })
    t.match(await fixture.cli(['agents', 'unlock', 'free', '--plan']), {
      code: 0,
      out: /nothing to unlock/,
    })
    const plan = ['agents', 'unlock', '--all', '--filter', 'tags.name=eu', '--plan']
    const { code, out } = await fixture.cli(plan)
    t.equal(code, 2)
    t.match(out, /^eu-1: \n  becomes active: cf-idle\n  loads: cf-idle\n  discards: boot\neu-2: /)
    t.notMatch(out, /us-1/)
    t.equal(
      (await fixture.json('agents', 'get', 'eu-1'))['stateName'],
      'Locked',
      'Nothing was done',
    )

    t.match(await fixture.cli(['agents', 'unlock', 'eu-1']), { code: 0, out: /stateName +Running/ })
    t.match(await fixture.cli(['agents', 'unlock', '--all', '--filter', 'tags.name=eu']), {
      code: 0,
      out: /eu-2 +Running/,
    })
    t.match(await fixture.cli(['agents', 'unlock', 'us-1', 'as-is', 'free']), {
      code: 1,
      out: /us-1 +Running/,
      err: /Not unlocked: free: it is not locked/,
    })
    t.match(await fixture.cli(['agents', 'unlock', '--all']), {
      code: 0,
      out: /no agent is locked/,
    })
    for (const wrong of [[], ['eu-1', '--all'], ['eu-1', '--filter', 'name=x']])
      t.match(await fixture.cli(['agents', 'unlock', ...wrong]), {
        code: exitCodes.usage,
        err: /--all/,
      })
  },
)
