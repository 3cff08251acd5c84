//! Cuts a message into pieces in every way that matters, so that no test depends on how bytes arrive.

/// Above this many bytes every pair of cuts would take too long; then pieces of chosen sizes are used.
const PAIRS_BYTES_MAX: usize = 400;

/// Calls `run` with `bytes` whole, byte by byte, and cut at every pair of places (which includes every single cut).
/// Long messages are cut into pieces of 1, 2, 3, 7, 16, 1000, 4095, 4096 and 4097 bytes instead.
pub fn every_split<'a>(bytes: &'a [u8], mut run: impl FnMut(&[&'a [u8]])) {
    run(&[bytes]);
    if bytes.is_empty() {
        return;
    }
    let sizes: &[usize] = if bytes.len() <= PAIRS_BYTES_MAX {
        &[1]
    } else {
        &[1, 2, 3, 7, 16, 1000, 4095, 4096, 4097]
    };
    for &size in sizes {
        run(&bytes.chunks(size).collect::<Vec<_>>());
    }
    if bytes.len() <= PAIRS_BYTES_MAX {
        for first in 1..bytes.len() {
            for second in first..bytes.len() {
                run(&[&bytes[..first], &bytes[first..second], &bytes[second..]]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_split_is_the_whole_message_in_order() {
        for len in [0, 1, 2, 5, PAIRS_BYTES_MAX + 1] {
            let bytes: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let mut runs = 0;
            every_split(&bytes, |pieces| {
                assert_eq!(pieces.concat(), bytes);
                runs += 1;
            });
            let pairs = if len > 0 && len <= PAIRS_BYTES_MAX {
                len * (len - 1) / 2
            } else {
                0
            };
            let sizes = if len == 0 {
                0
            } else if len <= PAIRS_BYTES_MAX {
                1
            } else {
                9
            };
            assert_eq!(runs, 1 + sizes + pairs, "{len} bytes");
        }
    }
}
