/** Steps of the package tests on a machine, as an operator types them. */
import { eventually } from '../support/eventually.js'
import { answering } from '../support/observe-cache.js'
import type { Machine } from './machine.js'

export const site = 'http://127.0.0.1:6081/'
const password = 'correct horse battery'
const service = {
  agent: 'cachefleet-agent.service',
  coordinator: 'cachefleet-coordinator.service',
  cache: 'varnish.service',
}
type Service = keyof typeof service

export async function install(machine: Machine, folder: 'current' | 'lower'): Promise<string> {
  return machine.must(`dpkg -i /root/${folder}/*.deb`)
}

/** A property of the unit, from systemd. */
export async function readUnit(machine: Machine, of: Service, property: string): Promise<string> {
  return (await machine.must(`systemctl show -p ${property} --value ${service[of]}`)).trim()
}

export async function readPids(machine: Machine): Promise<Readonly<Record<Service, string>>> {
  const [agent = '', coordinator = '', cache = ''] = await Promise.all(
    (['agent', 'coordinator', 'cache'] as const).map((of) => readUnit(machine, of, 'MainPID')),
  )
  return { agent, coordinator, cache }
}

/** As packaged, with an account and its own TLS; the CLI is logged in. */
export async function startCoordinator(machine: Machine): Promise<void> {
  await machine.must(`
    umask 077
    echo '${password}' > /root/password
    printf 'CACHEFLEET_ADMIN_USER=admin\\nCACHEFLEET_ADMIN_PASSWORD=${password}\\n' > /etc/default/cachefleet-coordinator
    systemctl enable --now ${service.coordinator}
    fingerprint=$(cachefleetd tls show | sed -n 's/^fingerprint *\\([^ ]*\\).*/\\1/p')
    cachefleet login --server https://localhost:8002 --user admin --password-file /root/password --fingerprint "$fingerprint"`)
}

/** The token comes from standard input. */
export async function enroll(machine: Machine): Promise<string> {
  return machine.must(`set -o pipefail
    sed -i 's/^# tags:.*/tags: [web]/' /etc/cachefleet/agent.yaml
    cachefleet jointokens add --label edge --json | sed -n 's/.*"token": *"\\([^"]*\\)".*/\\1/p' |
      cachefleetd enroll https://localhost:8002`)
}

/** Deploys a site with this mark; `cachefleet apply` waits until it serves. */
export async function deploy(machine: Machine, mark: string): Promise<string> {
  return machine.must(`set -e
    mkdir -p /root/fleet
    cat > /root/fleet/site.vcl <<'VCL'
${answering(mark)}VCL
    cat > /root/fleet/fleet.yaml <<'YAML'
{kind: tag, name: web}
---
{kind: file, name: site.vcl, source: '@site.vcl'}
---
{kind: deployment, name: site, tags: [web], min: 1, max: 1}
---
{kind: vclgroup, name: site, mainVCL: site.vcl, deployments: [site], deployed: true}
YAML
    cachefleet apply -f /root/fleet`)
}

/** The mark in the cache's response, else its status. */
export async function fetchSite(machine: Machine): Promise<string> {
  const { output } = await machine.run(`curl -s -o /dev/null -D - ${site}`)
  return (
    /^X-Marker: (.*?)\r?$/im.exec(output)?.[1] ?? /^HTTP\/1\.1 (\d+)/.exec(output)?.[1] ?? 'nothing'
  )
}

export async function untilServing(machine: Machine, mark: string): Promise<void> {
  await eventually(`${mark} is served`, async () => {
    const served = await fetchSite(machine)
    if (served !== mark) throw new Error(`it answers ${served}`)
    return true
  })
}

/** According to the coordinator. */
export async function untilRunning(machine: Machine): Promise<void> {
  await eventually('the agent is Running', async () => {
    const { output } = await machine.run('cachefleet agents list')
    if (!/^\d+ +edge +Running +running /m.test(output)) throw new Error(output)
    return true
  })
}
