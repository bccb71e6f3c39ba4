// The number of an invocation in a launch planned by linearWorkgroups (src/gpu/program.ts): workgroups count along x first,
// then y, because one dimension holds at most 65,535 of them. A kernel that uses it starts with
//   let i = linearIndex(workgroup, workgroups, local);

fn linearIndex(workgroup: vec3<u32>, workgroups: vec3<u32>, local: u32) -> u32 {
  return (workgroup.y * workgroups.x + workgroup.x) * WORKGROUP + local;
}
