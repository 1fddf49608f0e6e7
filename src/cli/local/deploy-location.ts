// A deploy in two steps: the plan, which changes nothing, and the deploy of exactly the version that was planned, so that a deploy of
// somebody else in between is not overwritten.

import { randomUUID } from 'node:crypto'
import type { DeployAnswer, DeployAsked } from '../answers.js'
import type { ApiClient } from '../client.js'
import { settled } from '../settled.js'

type Deploy = { readonly client: ApiClient; readonly location_name: string; readonly asked: DeployAsked }

const pathOf = ({ location_name }: Deploy): string => `/code-locations/${encodeURIComponent(location_name)}/deploy`

export const planDeploy = (deploy: Deploy): Promise<DeployAnswer> =>
  deploy.client.post<DeployAnswer>(pathOf(deploy), deploy.asked, { query: { dry_run: true } })

export async function deployPlanned(deploy: Deploy, planned: DeployAnswer, { wait }: { readonly wait: boolean }): Promise<DeployAnswer> {
  const { client, asked } = deploy
  const body = { ...asked, expected_location_version: planned.location_version }
  const sent = await client.post<DeployAnswer>(pathOf(deploy), body, { query: { wait }, idempotency_key: randomUUID() })
  const answer = await settled({ client }, sent)
  if (answer === sent) return sent
  // The answer was given before its outcome: it has the version that the deploy was made for.
  return { ...answer, location_version: sent.location_version + (answer.outcome?.kind === 'applied' ? 1 : 0) }
}
