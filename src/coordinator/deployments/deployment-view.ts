/** What the API answers of deployments. */
import { deployment } from '../../resources/deployment.js'
import { answerMaker } from '../api/resource-answers.js'
import { answerSchema } from '../api/resource-schemas.js'
import type { DeploymentView } from './deployments.js'

export const deploymentSchema = answerSchema(deployment.fields)

const makeAnswer = answerMaker(deployment.fields)

export function toDeploymentView({ record, state, stateName, problems, agents }: DeploymentView) {
  return makeAnswer(record, { tags: record.tags, state, stateName, problems, agents })
}
