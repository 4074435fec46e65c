/** One certificate: its expiry, its caches, and why other caches do not have it. */
import type { Certificate } from '../../../resources/certificate.js'
import { useObject } from '../../api/object.js'
import { Facts } from '../../parts/facts.js'
import { LoadStatus } from '../../parts/load-status.js'
import { ReferenceList } from '../../parts/reference-list.js'
import { StateChip } from '../../parts/state-chip.js'
import { Time } from '../../parts/time.js'
import { Owner } from '../../parts/owner.js'
import { ViewHead } from '../../parts/view-head.js'
import { mayRead, mayWrite } from '../../session/rights.js'
import type { ViewProps } from '../../views.js'
import { AgentTable } from './agent-table.js'
import { CertificateActions } from './certificate-actions.js'
import { judgeDeploy } from './judge-deploy.js'
import { ExpiryChip } from './expiry.js'
import { useVerbs } from './use-verbs.js'

export function View({ params }: ViewProps) {
  const path = `/certificates/${params['id'] ?? ''}`
  const shown = useObject<Certificate>(path, { follow: 'certificate', id: Number(params['id']) })
  const { value: certificate, etag, reload } = shown
  const verbs = useVerbs(path, reload)
  return (
    <>
      <ViewHead
        title={certificate?.name ?? 'Certificate'}
        beside={certificate && <Beside certificate={certificate} />}
        back={{ href: '/certificates', title: 'Certificates' }}
      >
        {certificate && mayWrite('certificate') && (
          <CertificateActions
            certificate={certificate}
            etag={etag}
            verbs={verbs}
            path={path}
            reload={reload}
          />
        )}
      </ViewHead>
      <LoadStatus of={shown} mutation={verbs} />
      {certificate && (
        <Panels certificate={certificate} shownError={verbs.error?.errorMsg ?? null} />
      )}
    </>
  )
}

interface CertificateProps {
  readonly certificate: Certificate
}

function Beside({ certificate }: CertificateProps) {
  const { stateName, notAfter } = certificate
  const note = judgeDeploy(certificate)
  return (
    <>
      <StateChip state={stateName} />
      {note && <StateChip state={note.words} tone={note.tone} />}
      <ExpiryChip at={notAfter} />
      <Owner of={certificate} />
    </>
  )
}

/** `shownError`: why the deploy started from this page failed, which is already shown. */
function Panels({
  certificate,
  shownError,
}: CertificateProps & { readonly shownError: string | null }) {
  const { domains, notAfter, fingerprint, deployments, deployError, changed, updated } = certificate
  return (
    <>
      {deployError !== null && (
        <section class="note tone-bad" aria-label="Why the last deploy failed">
          <p>
            The last deploy failed: caches serve on what they had before, which may expire earlier
            than what is shown here.
          </p>
          {deployError !== shownError && <pre tabIndex={0}>{deployError}</pre>}
        </section>
      )}
      {deployError === null && changed && (
        <p class="note tone-warn">
          It was changed and not deployed since: caches serve on what they had before, which may
          expire earlier than what is shown here.
        </p>
      )}
      <div class="panels">
        <section class="panel">
          <h2>What it is</h2>
          <Facts
            of={[
              ['Domains', domains.join(', ')],
              ['Expires', <Time at={notAfter} />],
              ['SHA-256', <code>{fingerprint}</code>],
              ['Changed', <Time at={updated} />],
            ]}
          />
        </section>
        <section class="panel">
          <h2>Deployments</h2>
          <ReferenceList
            items={deployments}
            hrefOf={mayRead('deployment') ? (one) => `/deployments/${one}` : undefined}
            none="None: a deploy takes it from all caches."
          />
        </section>
      </div>
      <section class="panel">
        <h2>Caches</h2>
        <AgentTable places={certificate.agentStates} />
      </section>
    </>
  )
}
