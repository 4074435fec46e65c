/** A new ban or purge: what it removes and where, whom it would reach, and one more question before everything goes. */
import { useSignal, type Signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import type { Outcome } from '../../api/http.js'
import type { Invalidation } from '../../../resources/invalidation.js'
import { Choices } from '../../parts/choices.js'
import { confirmDestruction } from '../../parts/confirm.js'
import { Empty } from '../../parts/empty.js'
import { SelectField, TextField, type TextFieldProps } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { isAbout } from '../../parts/is-about.js'
import { toast } from '../../parts/toasts.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayWrite } from '../../session/rights.js'
import { useAddressField } from '../../shell/address.js'
import {
  composeBody,
  findMark,
  reachesEverything,
  type InvalidationBody,
  type TargetKind,
} from './compose-invalidation.js'
import { PreviewNote } from './preview-note.js'
import { firstKind, TargetFields } from './target-fields.js'
import { askPreview, usePreview } from './use-preview.js'

export function View() {
  const [, go] = useLocation()
  const [word, setType] = useAddressField('type')
  const type = word === 'purge' ? 'purge' : 'ban'
  const text = useSignal('')
  const kind = useSignal<TargetKind>(firstKind())
  const ids = useSignal<readonly number[]>([])
  const method = useSignal('PURGE')
  const headers = useSignal('')
  const ttl = useSignal('86400')
  const deed = useDeed()
  const draft = {
    ...({ type, text: text.value, kind: kind.value, ids: ids.value } as const),
    ...{ method: method.value, headers: headers.value, ttl: Number(ttl.value) },
  }
  const body = composeBody(draft)
  const preview = usePreview(body)
  const name = type === 'purge' ? 'urls' : body?.expressions ? 'expressions' : 'expression'
  const names = [name, 'method', 'headers']
  const told = { error: deed.error, advice: preview.error }
  const wrong = deed.error ?? (preview.isCurrent ? preview.error : null)
  const main = { name, value: text, mark: wrong && findMark(draft, wrong.errorMsg), ...told }
  const key = JSON.stringify(body)
  useLayoutEffect(() => {
    deed.forget()
  }, [key])

  if (!mayWrite('invalidation'))
    return <Empty icon="invalidation" title="You may not make invalidations" />
  const verb = type === 'ban' ? 'Ban' : 'Purge'
  return (
    <>
      <ViewHead
        title="New invalidation"
        back={{ href: '/invalidations', title: 'Invalidations' }}
      />
      <div class="panel invalidation-new">
        <Choices label="Type" value={type} onChoose={setType} choices={types} />
        <Form
          deed={deed}
          verb={verb}
          names={names}
          onCancel={() => {
            go('/invalidations')
          }}
          onSubmit={() => {
            if (!body) {
              toast('Choose where first.')
              return
            }
            void deed.run(
              () => makeInvalidation(body, verb),
              (made) => {
                if (!made) return
                toast(`${verb} is on its way.`)
                go(`/invalidations/${made.id}`)
              },
            )
          }}
        >
          {type === 'ban' ? (
            <TextField
              key="ban"
              label="Expressions"
              {...main}
              lines={3}
              required
              autoFocus
              hint='One a line: field, operator, value, joined by &&. obj.http.x-url ~ "^/img/" && obj.status == 200'
            />
          ) : (
            <PurgeFields urls={main} {...{ method, headers, told }} />
          )}
          <TargetFields {...{ kind, ids }} />
          <SelectField label="Caches that are away get it within" value={ttl} options={ttls} />
          <PreviewNote
            preview={preview}
            isSaid={names.some((one) => isAbout(preview.error, one))}
            isReady={body !== null}
          />
        </Form>
      </div>
    </>
  )
}

interface PurgeFieldsProps {
  readonly urls: Pick<TextFieldProps, 'name' | 'value' | 'mark' | 'error' | 'advice'>
  readonly method: Signal<string>
  readonly headers: Signal<string>
  readonly told: Pick<TextFieldProps, 'error' | 'advice'>
}

function PurgeFields({ urls, method, headers, told }: PurgeFieldsProps) {
  const more = useRef<HTMLDetailsElement>(null)
  const isWrong = ['method', 'headers'].some((name) => isAbout(told.error ?? told.advice, name))
  useLayoutEffect(() => {
    if (isWrong && more.current) more.current.open = true
  }, [isWrong])
  return (
    <>
      <TextField
        {...{ ...urls, lines: 3, required: true, autoFocus: true }}
        label="URLs"
        hint="One a line, whole: https://www.example.com/img/logo.png"
      />
      <details class="invalidation-more" ref={more}>
        <summary>Method and headers</summary>
        <div class="stack">
          <TextField {...{ value: method, ...told }} label="Method" name="method" />
          <TextField
            {...{ value: headers, ...told, lines: 2 }}
            label="Headers"
            name="headers"
            hint="One a line. Name: value"
          />
        </div>
      </details>
    </>
  )
}

const types = [
  { value: 'ban', title: 'Ban' },
  { value: 'purge', title: 'Purge' },
]

const ttls = [
  { value: '3600', title: '1 hour' },
  { value: '86400', title: '24 hours' },
  { value: '604800', title: '7 days' },
  { value: '2592000', title: '30 days' },
]

/** Null: the person thought better of it. Whom it reaches is asked anew: what was shown may be from before the last letter. */
async function makeInvalidation(
  body: InvalidationBody,
  verb: string,
): Promise<Outcome<Invalidation | null>> {
  const preview = await askPreview(body)
  if (!preview.ok) return preview
  const { reached, warnings } = preview.value
  if (reachesEverything(body, warnings)) {
    const isMeant = await confirmDestruction({
      title: 'all' in body.target ? `${verb} on all caches?` : `${verb} everything of the target?`,
      text: `${reached} ${reached === 1 ? 'cache' : 'caches'} will fetch anew what is removed. It cannot be undone.`,
      verb,
      name: 'everything',
    })
    if (!isMeant) return { ok: true, value: null, etag: null, total: null }
  }
  return call<Invalidation>('POST', '/invalidations', { body })
}
