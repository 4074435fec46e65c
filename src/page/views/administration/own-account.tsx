/** The user's own account: name, role, permissions, password, and the theme of the page. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useMutation } from '../../api/mutation.js'
import type { Whoami } from '../../../resources/session.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { Facts } from '../../parts/facts.js'
import { Form } from '../../parts/form.js'
import { Inputs, useInputForm } from '../../parts/input-form.js'
import { Labels } from '../../parts/state-chip.js'
import { endedBecause, logOut } from '../../session/access.js'
import { readWho } from '../../session/rights.js'
import { chooseTheme, theme, themes } from '../../shell/theme.js'
import { AdministrationHead } from './administration-head.js'

export function View() {
  const who = readWho()
  if (!who) return null
  const { account, role, permissions } = who
  const written = permissions.filter(({ write }) => write).map(({ type }) => type)
  const onlyRead = permissions.filter(({ write }) => !write).map(({ type }) => type)
  return (
    <>
      <AdministrationHead title="Your account" />
      {permissions.length === 0 && (
        <Empty icon="administration" title="There is nothing that you may see yet">
          <p>An administrator of your organization can give you permissions; then log in again.</p>
        </Empty>
      )}
      <div class="panels">
        <section class="panel">
          <h2>Who you are</h2>
          <Facts
            of={[
              ['Name', account.name],
              ['Role', describeRole(who)],
              ['May change', role === 'regular' && listTypes(written, 'Nothing')],
              ['May read', role === 'regular' && listTypes(onlyRead, 'Nothing more')],
            ]}
          />
          <h2>Theme</h2>
          <Choices
            label="Theme"
            value={theme.value}
            choices={themes.map((value) => ({ value, title: themeTitles[value] }))}
            onChoose={(value) => {
              chooseTheme(themes.find((one) => one === value) ?? 'system')
            }}
          />
        </section>
        <PasswordPanel />
      </div>
    </>
  )
}

function describeRole({ role, organization }: Whoami): string {
  return organization
    ? `${roleTitles[role]} in ${organization.name}`
    : 'System administrator: may do everything, in all organizations'
}

function listTypes(types: readonly string[], none: string) {
  return types.length > 0 ? <Labels words={types} /> : none
}

const roleTitles = {
  system: 'System administrator',
  administrator: 'Administrator: may do everything',
  regular: 'Regular',
}
const themeTitles = { system: 'System', light: 'Light', dark: 'Dark' }

function PasswordPanel() {
  const mutation = useMutation()
  const form = useInputForm(inputs, {})
  const isDifferent = useSignal(false)
  const submit = (): void => {
    const { again, ...body } = form.read()
    isDifferent.value = body['new'] !== again
    if (isDifferent.value) return
    void mutation.run(
      () => call('PUT', '/auth/password', { body }),
      () => void leave(), // never rejects
    )
  }
  const error = isDifferent.value ? unlike : mutation.error
  return (
    <section class="panel">
      <h2>Password</h2>
      <Form mutation={mutation} verb="Change the password" names={['new']} onSubmit={submit}>
        <Inputs form={form} error={error} isFocused={false} />
      </Form>
    </section>
  )
}

const password = { type: 'password', required: true } as const

const inputs = {
  old: { label: 'Current password', autoComplete: 'current-password', ...password },
  new: {
    label: 'New password',
    autoComplete: 'new-password',
    ...password,
    hint: 'At least 12 characters. All your sessions end, this one too.',
  },
  again: { label: 'New password again', autoComplete: 'new-password', ...password },
} as const

const unlike = {
  status: 0,
  errorKey: '',
  traceId: '',
  retryAfterSeconds: null,
  errorMsg: 'Again must be the same as the new password',
}

/** The change of the password has ended the session. */
async function leave(): Promise<void> {
  await logOut()
  endedBecause.value = 'Your password is changed. Log in with the new one.'
}
