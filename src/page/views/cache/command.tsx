/** Sends one line to the management port of a cache and shows the cache's response verbatim. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import type { SectionProps } from './cache.js'

interface Answer {
  readonly id: number
  readonly command: string
  readonly message: string
}

/** Older answers are dropped. */
const maxAnswers = 20
const answerCharacters = 100_000

export function CommandSection({ agent }: SectionProps) {
  const mutation = useMutation()
  const command = useSignal('')
  const answers = useSignal<readonly Answer[]>([])

  const sendCommand = (): void => {
    const sent = command.value
    void mutation.run(
      () =>
        call<{ readonly message: string }>('POST', `/agents/${agent.id}/command`, {
          body: { command: sent },
        }),
      ({ message }) => {
        const id = (answers.peek()[0]?.id ?? 0) + 1
        const answer = { id, command: sent, message: message.slice(0, answerCharacters) }
        answers.value = [answer, ...answers.peek()].slice(0, maxAnswers)
        command.value = ''
      },
    )
  }

  return (
    <div class="stack">
      <section class="panel" aria-label="Command">
        <Form mutation={mutation} verb="Send" names={['command']} onSubmit={sendCommand}>
          <TextField
            label="Command"
            name="command"
            value={command}
            error={mutation.error}
            placeholder="backend.list"
            hint="Reading commands such as status, vcl.list or backend.list are sent as they are; param.set, backend.set_health and ban are stored as desired state."
          />
        </Form>
      </section>
      {answers.value.map(({ id, command, message }) => (
        <section class="cache-answer" key={id} aria-label={`Answer to ${command}`}>
          <h2>
            <code>{command}</code>
          </h2>
          <pre tabIndex={0}>{message === '' ? 'done' : message}</pre>
        </section>
      ))}
    </div>
  )
}
