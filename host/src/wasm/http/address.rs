//! Which addresses a host may have.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How a grant names a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// By its own name or address.
    Itself,
    /// As a subdomain of what it names.
    AsOneOfMany,
}

/// Where an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// On the public network.
    Public,
    /// On this machine or in a network of its owner's.
    Near,
    /// Where no name leads in good faith: link-local (machines of clouds tell secrets there), for many, or for nobody.
    Odd,
}

impl Place {
    /// That of an address; one that holds another, as mapped ones do, is where that one is.
    pub(super) fn of(ip: IpAddr) -> Self {
        match ip {
            IpAddr::V4(ip) => Self::of_v4(ip),
            IpAddr::V6(ip) => match held(ip) {
                Some(held) => Self::of_v4(held),
                None => Self::of_v6(ip),
            },
        }
    }

    fn of_v4(ip: Ipv4Addr) -> Self {
        match ip.octets() {
            [127 | 10, ..] | [172, 16..=31, ..] | [192, 168, ..] | [100, 64..=127, ..] => Self::Near,
            // This network; link-local; protocols, documentation and the former 6to4 relays; measuring; many; reserved.
            [0, ..] | [169, 254, ..] | [192, 0, 0 | 2, _] | [192, 88, 99, _] => Self::Odd,
            [198, 18 | 19, ..] | [198, 51, 100, _] | [203, 0, 113, _] | [224..=255, ..] => Self::Odd,
            _ => Self::Public,
        }
    }

    fn of_v6(ip: Ipv6Addr) -> Self {
        match ip.segments() {
            [0, 0, 0, 0, 0, 0, 0, 1] | [0xfc00..=0xfdff, ..] => Self::Near,
            // Protocols, Teredo among them; documentation.
            [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Self::Odd,
            [0x2000..=0x3fff, ..] => Self::Public,
            _ => Self::Odd,
        }
    }

    /// Whether a host that was granted so may be there. An address that was named is meant, wherever it is.
    pub(super) fn is_open(self, named: Named, by_address: bool) -> bool {
        match (self, named) {
            (Self::Public, _) => true,
            (Self::Near, Named::Itself) => true,
            (Self::Odd, Named::Itself) => by_address,
            (Self::Near | Self::Odd, Named::AsOneOfMany) => false,
        }
    }
}

/// The address of version 4 that one of version 6 leads to: mapped, compatible, NAT64 or 6to4.
fn held(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let pair = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match ip.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(pair(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(pair(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(pair(high, low)),
        [0x2002, high, low, ..] => Some(pair(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(texts: &[&str], place: Place) {
        for text in texts {
            assert_eq!(Place::of(text.parse().unwrap()), place, "{text}");
        }
    }

    #[test]
    fn each_form_of_an_address_is_where_it_leads() {
        all(&["1.1.1.1", "172.32.0.1", "100.128.0.1", "192.0.1.1", "2606:4700::1111", "::ffff:8.8.8.8"], Place::Public);
        all(&["64:ff9b::808:808", "2002:808:808::1", "::8.8.8.8"], Place::Public);
        all(&["127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"], Place::Near);
        all(&["100.64.0.1", "::1", "fc00::1", "fdff::1"], Place::Near);
        all(&["::ffff:127.0.0.1", "::127.0.0.1", "::ffff:0:10.0.0.1", "64:ff9b::7f00:1"], Place::Near);
        all(&["2002:7f00:1::", "2002:c0a8:101::1"], Place::Near);
        all(&["0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "255.255.255.255", "198.18.0.1"], Place::Odd);
        all(&["192.0.2.1", "203.0.113.9", "240.0.0.1", "::", "fe80::1", "fec0::1", "ff02::1"], Place::Odd);
        all(&["::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2001::1", "2001:db8::1"], Place::Odd);
        all(&["::ffff:0.0.0.0", "2002:a9fe:a9fe::", "100::1", "5f00::1", "3fff::1"], Place::Odd);
    }

    #[test]
    fn only_who_is_named_itself_may_be_near_and_only_an_address_may_be_odd() {
        let open = |place: Place, named| [false, true].map(|by_address| place.is_open(named, by_address));
        assert_eq!(open(Place::Public, Named::AsOneOfMany), [true, true]);
        assert_eq!(open(Place::Near, Named::AsOneOfMany), [false, false]);
        assert_eq!(open(Place::Near, Named::Itself), [true, true]);
        assert_eq!(open(Place::Odd, Named::AsOneOfMany), [false, false]);
        assert_eq!(open(Place::Odd, Named::Itself), [false, true]);
    }
}
