// The workspace of a `servo dev`, as its processes read it from the environment.

import type { Environment } from '../../../bin/config.js'
import type { Scope } from '../../../core/ids.js'

export const scopeIn = ({ SERVO_TENANT, SERVO_WORKSPACE }: Environment): Scope => ({
  tenant_id: SERVO_TENANT || 'default',
  workspace_id: SERVO_WORKSPACE || 'default',
})
