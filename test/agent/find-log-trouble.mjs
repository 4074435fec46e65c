// Whether somebody who is in no group may read the log of the cache in this folder: `find-log-trouble.mjs FOLDER`.
import { findLogTrouble } from '../../dist/src/agent/log/log-trouble.js'

const nobody = 65_534
if (process.getuid() === 0) {
  process.setgroups([])
  process.setgid(nobody)
  process.setuid(nobody)
}
const tool = { program: '/bin/true', folder: process.argv[2] }
process.stdout.write(JSON.stringify(await findLogTrouble(() => Promise.resolve(tool))))
