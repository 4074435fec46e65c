// Says how an agent would keep tests from its host where it may make no network: as root of a user namespace of its own.
import { writeFileSync } from 'node:fs'
import { findContainment } from '../../dist/src/agent/tests/containment.js'

writeFileSync('/proc/sys/user/max_net_namespaces', '0')
process.stdout.write(JSON.stringify(await findContainment()))
