//! The index agrees with the naive way (`testing::routes`), and neither a pattern nor a path panics.

use proptest::prelude::*;

use super::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_agrees_with_a_walk_over_all_routes(data in proptest::collection::vec(any::<u8>(), 0..400)) {
        crate::testing::fuzz::routes(&data);
    }

    #[test]
    fn no_pattern_and_no_path_panics(pattern in "[/:*a-c()<>%\\[\\]^+?.\\-d]{0,24}", path in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut captures = Captures::new();
        let mut router = Router::new();
        let options = Options::default();
        for pattern in [pattern.clone(), format!("/:x({pattern})"), format!("/:x({pattern})-:y")] {
            if let Ok(prefix) = Prefix::compile(&pattern, &options) {
                let rest = prefix.matches(&path, &mut captures);
                prop_assert!(rest.is_none_or(|rest| rest == 0 || rest == path.len() || path[rest] == b'/'));
            }
            let _ = router.insert(Methods::GET, &pattern, &options);
        }
        let mut path = path;
        for _ in 0..2 {
            let _ = router.find(Methods::GET, &path, &mut captures);
            for capture in captures.values() {
                prop_assert!(capture.start <= capture.end && capture.end as usize <= path.len());
            }
            path.insert(0, b'/');
        }
    }
}
