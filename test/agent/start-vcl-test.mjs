// Runs a test that waits, to be killed meanwhile: `start-vcl-test.mjs VARNISHD OWNER`.
import { runInProcess } from '../../dist/src/agent/tests/run-in-process.js'

const [, , program, owner] = process.argv
await runInProcess({
  order: {
    program,
    words: [],
    owner,
    compile: { cpuMs: 60_000, memoryBytes: 1 << 30 },
    vcl: { text: 'vcl 4.1;\nbackend b { .host = "a.example"; }\n', groupId: 1, routed: null },
    file: {
      name: 'waits.test.yaml',
      text: 'backends: {b: [{respond: {delayMs: 30000}}]}\nsteps: [{request: {url: /}}]\n',
    },
    containment: null,
  },
  words: [],
  limitMs: 600_000,
  signal: new AbortController().signal,
})
