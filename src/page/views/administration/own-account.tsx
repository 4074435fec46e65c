/** The person who is logged in: who they are, their password, how the page looks, what they may. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.js'
import { useDeed } from '../../api/deed.js'
import { Choices } from '../../parts/choices.js'
import { Empty } from '../../parts/empty.js'
import { TextField } from '../../parts/field.js'
import { Form } from '../../parts/form.js'
import { Labels } from '../../parts/state-chip.js'
import { endedBecause, logOut } from '../../session/access.js'
import { readWho } from '../../session/rights.js'
import { chooseTheme, theme, themes } from '../../shell/theme.js'
import { AdministrationHead } from './administration-head.js'
import { Fact } from './fact.js'

export function View() {
  const who = readWho()
  if (!who) return null
  const { account, organization, role, permissions } = who
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
          <dl class="facts">
            <Fact title="Name">{account.name}</Fact>
            <Fact title="Role">
              {organization
                ? `${roleTitles[role]} in ${organization.name}`
                : 'System administrator: may do everything, in all organizations'}
            </Fact>
            {role === 'regular' && (
              <>
                <Fact title="May change">
                  {written.length > 0 ? <Labels words={written} /> : 'Nothing'}
                </Fact>
                <Fact title="May look at">
                  {onlyRead.length > 0 ? <Labels words={onlyRead} /> : 'Nothing more'}
                </Fact>
              </>
            )}
          </dl>
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

const roleTitles = {
  system: 'System administrator',
  administrator: 'Administrator: may do everything',
  regular: 'Regular',
}
const themeTitles = { system: 'As the system', light: 'Light', dark: 'Dark' }

function PasswordPanel() {
  const deed = useDeed()
  const old = useSignal('')
  const fresh = useSignal('')
  const again = useSignal('')
  const isDifferent = useSignal(false)
  const submit = (): void => {
    isDifferent.value = fresh.value !== again.value
    if (isDifferent.value) return
    void deed.run(
      () => call('PUT', '/auth/password', { body: { old: old.value, new: fresh.value } }),
      () => void leave(), // never rejects
    )
  }
  return (
    <section class="panel">
      <h2>Password</h2>
      <Form deed={deed} verb="Change the password" names={['new']} onSubmit={submit}>
        <TextField
          label="Password that you have"
          type="password"
          autoComplete="current-password"
          value={old}
          required
        />
        <TextField
          label="New password"
          name="new"
          type="password"
          autoComplete="new-password"
          hint="At least 12 characters. All your sessions end, this one too."
          value={fresh}
          error={deed.error}
          required
        />
        <TextField
          label="New password again"
          name="again"
          type="password"
          autoComplete="new-password"
          value={again}
          error={isDifferent.value ? unlike : null}
          required
        />
      </Form>
    </section>
  )
}

const unlike = {
  ...{ status: 0, errorKey: '', traceId: '', retryAfterSeconds: null },
  errorMsg: 'Again is not the same as the new password',
}

/** The session ended with the old password. */
async function leave(): Promise<void> {
  await logOut()
  endedBecause.value = 'Your password is changed. Log in with the new one.'
}
