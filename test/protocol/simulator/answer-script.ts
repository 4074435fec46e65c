/** Commands that a simulated engine and a real one must answer alike. In order: later ones build on earlier ones. */
import { backendSteps } from './backend-script.js'
import { banSteps } from './ban-script.js'
import { childSteps } from './child-script.js'
import { paramSteps } from './param-script.js'
import { manyProgramSteps, programSteps } from './program-script.js'
import type { Step } from './script-steps.js'
import { vclSteps } from './vcl-script.js'
import { wordSteps } from './word-script.js'

export const answerScript: readonly Step[] = [
  ...wordSteps,
  ...programSteps,
  ...vclSteps,
  ...manyProgramSteps,
  ...backendSteps,
  ...banSteps,
  ...paramSteps,
  ...childSteps,
]
