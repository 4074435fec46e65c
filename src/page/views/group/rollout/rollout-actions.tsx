/** Actions on a running rollout. */
import type { Rollout } from '../../../../resources/rollout.js'
import { call } from '../../../api/call.js'
import { useMutation } from '../../../api/mutation.js'
import { Button } from '../../../parts/button.js'
import { confirmDestruction, type Question } from '../../../parts/confirm.js'
import { ErrorNote } from '../../../parts/error-note.js'
import { toast } from '../../../parts/toasts.js'
import { mayWrite } from '../../../session/rights.js'
import { describeWave, listVerbs, type RolloutVerb } from './describe-rollout.js'

interface RolloutActionsProps {
  readonly rollout: Rollout
  readonly reload: () => void
}

export function RolloutActions({ rollout, reload }: RolloutActionsProps) {
  const mutation = useMutation()
  const verbs = mayWrite('vclgroup') ? listVerbs(rollout) : []
  const act = async (verb: RolloutVerb): Promise<void> => {
    const question = questions[verb]?.(rollout)
    if (question && !(await confirmDestruction(question))) return
    await mutation.run(
      () => call('PUT', `/rollouts/${rollout.id}/${verb}`),
      () => {
        toast(`Rollout ${rollout.id} ${words[verb].done}.`)
      },
    )
    reload()
  }
  return (
    <>
      {verbs.length > 0 && (
        <div class="row">
          {verbs.map((verb) => (
            <Button key={verb} isBusy={mutation.isBusy} onClick={() => void act(verb)}>
              {words[verb].title}
            </Button>
          ))}
        </div>
      )}
      {mutation.error && <ErrorNote error={mutation.error} />}
    </>
  )
}

const words: Readonly<Record<RolloutVerb, { readonly title: string; readonly done: string }>> = {
  pause: { title: 'Pause', done: 'paused' },
  resume: { title: 'Resume', done: 'resumed' },
  advance: { title: 'Advance…', done: 'advanced' },
  abort: { title: 'Abort…', done: 'aborted' },
}

/** Pausing and resuming are harmless and need no confirmation. */
const questions: Readonly<Partial<Record<RolloutVerb, (rollout: Rollout) => Question>>> = {
  advance: (rollout) => ({
    title: `Advance rollout ${rollout.id}?`,
    text:
      rollout.wave < rollout.waves.length
        ? `It is in ${describeWave(rollout)}. That wave counts as passed, whatever its gates say, and the next one switches now.`
        : 'Its last wave counts as passed, whatever its gates say, and the rollout has succeeded.',
    verb: 'Advance',
    isHarmless: true,
  }),
  abort: askAbort,
}

function askAbort({ id, vclGroup, fromRevision }: Rollout): Question {
  return {
    title: `Abort rollout ${id} of ${vclGroup.name}?`,
    text: `All caches go back to revision ${fromRevision} at once. Files stay as they are.`,
    verb: 'Abort rollout',
  }
}
