/** A problem of both a group and its deployments is one row in the list of open problems (docs/behaviour.md, Problems). */
import { sql, type SqlBool } from 'kysely'
import { sharedCodes } from '../../resources/problem.js'

const codes = sql.join(sharedCodes.map((code) => sql.lit(code)))

/** The number of groups of each deployment that have a code. */
const groupProblems = sql`(select used."deploymentId", ill.code, count(*) as groups
  from "openProblems" as ill
  inner join "vclGroupDeployments" as used on used."groupId" = ill."objectId"
  where ill."objectType" = 'vclgroup' and ill."endedAt" is null and ill.code in (${codes})
  group by used."deploymentId", ill.code)`

/** As `isToldByDeployment`, for counted groups. */
const isOfDeployment = sql`counted.groups > 1 and counted.code <> 'load-failed'`

const ofGroup = sql`"openProblems"."objectType" = 'vclgroup' and ("openProblems"."objectId", "openProblems".code) in (
  select used."groupId", counted.code from ${groupProblems} as counted
  inner join "vclGroupDeployments" as used on used."deploymentId" = counted."deploymentId"
  inner join "openProblems" as borne on borne."objectType" = 'deployment' and borne."objectId" = counted."deploymentId"
    and borne.code = counted.code and borne."endedAt" is null
  where ${isOfDeployment})`

const ofDeployment = sql`"openProblems"."objectType" = 'deployment' and ("openProblems"."objectId", "openProblems".code) in (
  select counted."deploymentId", counted.code from ${groupProblems} as counted where not (${isOfDeployment}))`

/** For callers who may read both types. */
export const isListedOnce = sql<SqlBool>`not (${ofGroup}) and not (${ofDeployment})`
